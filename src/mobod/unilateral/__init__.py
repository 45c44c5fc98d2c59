"""Rigid contact: what touches and lets go, bounces, sticks and slides; one kind a file. Users find the kinds in `mobod.contact`."""
