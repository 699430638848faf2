"""Adapters: one package per vendor, each providing what the core's ports ask for."""
