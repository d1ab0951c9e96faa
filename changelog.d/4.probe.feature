A token that APNs does not know is tried once in the other environment before it is set aside, and moves there when it is known.
