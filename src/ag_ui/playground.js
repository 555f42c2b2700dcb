// Plays an AG-UI app.
