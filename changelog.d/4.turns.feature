Tenants take turns by number of targets, not by number of slices.
