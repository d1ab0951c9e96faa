`push-gateway analytics recount` compares the counts with the deliveries and corrects them while the gateway runs.
