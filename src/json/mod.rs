//! Raw JSON slices, the object walker, escaping and the serialiser.
