`/users/merge` of Braze; whoever is identified or merged brings groups along, and the devices hear what the user said to pushes.
