"""Scripted clients: each plays the documented flow of one vendor's apps and back ends against any address."""
