A link of an invitation signs in the person who chooses the password, and so does the link that `scripts/demo --stay` prints.
