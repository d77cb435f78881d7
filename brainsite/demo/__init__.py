"""An invented company to look around in, and a clinic next door that must see nothing of it. See load.py."""
