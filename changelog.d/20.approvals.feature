Messages to more recipients than an app's `approvalAbove` wait in the state `awaitingApproval` until another API key, or `push-gateway message approve`, approves them.
