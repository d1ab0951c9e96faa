A link of an invitation or a reset signs in the person who chooses the password with it; `scripts/demo --stay` prints such a link.
