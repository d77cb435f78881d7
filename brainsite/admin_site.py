from django.contrib.admin import AdminSite
class BrainAdminSite(AdminSite):
    pass
