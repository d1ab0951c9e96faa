A token that APNs does not know is tried once in the other environment before it is quarantined, and moves there if it is known.
