"""What is stored unreadable: encrypted if it must be read again, as a keyed hash if it is only compared."""
