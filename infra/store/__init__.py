"""The store on Redis or Valkey: log, tasks, turns, effects, bus and blobs, as Lua scripts."""
