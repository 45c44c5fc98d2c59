"""The command `mobod`: simulate models, write pictures, films and tables."""
