UPMC: `REQ_PSIDS` narrows a send to a group (`TYPE=G`) to the members' devices that it names; it was refused with `40000` before.
