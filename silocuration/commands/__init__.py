"""The commands `silo rules`, `sheet`, `attach` and `bulk` (`edits`); `quality`, `clusters` and
`upstream` (`review`)."""
