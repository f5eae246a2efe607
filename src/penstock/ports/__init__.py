"""What is asked of the world: protocols of engines, object stores, sinks, archives and clocks."""
