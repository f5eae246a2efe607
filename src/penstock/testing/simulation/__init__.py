"""The simulation: real code on a store in memory, where every call is a point at which another may go first."""
