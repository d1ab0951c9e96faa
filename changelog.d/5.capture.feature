`push-gateway capture start|stop|list|show|remove` (and `/v1/captures`) record what callers of one binding send, masked, bounded in time, count and bytes over all nodes; off unless started.
