"""Mechanisms in the browser: live pages that can be turned, dragged and played, and files of motion that need no network.

Live pages are served by the package viser (the extra ``view``); what is written to files, HTML and glTF, needs nothing.
"""
