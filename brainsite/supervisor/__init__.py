"""What `manage.py up` does: the embedded servers and Brain's own processes, started, kept alive and stopped.

Nothing here needs Django's settings: the supervisor starts before the secrets exist.
"""
