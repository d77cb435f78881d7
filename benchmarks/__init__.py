"""What is measured, through the product's own verbs. Django is set up here: every module below may import models."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brainsite.settings")
django.setup()
