UPMC: `REQ_PSIDS` limits a send to a group (`TYPE=G`) to the named devices of its members. Before, it was refused with `40000`.
