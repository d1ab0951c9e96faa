"""Migrations of an app from each vendor, against the vendor's stub (README.md)."""
