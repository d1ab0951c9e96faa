Braze: `/users/merge`. An identified or merged user keeps its groups, and its devices take over the user's push consent.
