"""The commands `silo usage …`; each module loads only what its command needs."""
