"""Stubs of the vendors' real services, and scripted clients of them. See README.md."""
