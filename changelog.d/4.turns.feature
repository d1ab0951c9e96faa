Tenants take turns by targets, not by slices.
