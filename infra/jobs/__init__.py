"""arq as the engine that runs wake-ups. A job carries an id; losing or doubling one changes nothing."""
