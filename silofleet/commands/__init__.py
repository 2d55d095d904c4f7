"""The commands `silo fleet …`; each module loads only what its command needs."""
