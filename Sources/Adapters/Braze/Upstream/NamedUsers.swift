import Model

/// The users that a send names.
enum NamedUsers {
    /// An alias does not reveal its user. A send to a segment, a filter or everyone names nobody.
    static func named(in request: VendorRequest) -> NamedTargets {
        guard let call = BrazeCall(rawValue: request.canonicalPath), let body = try? request.brazeBody(),
            let names = try? users(call, body, at: request.receivedAt), !names.isEmpty
        else { return .audience }
        var targets: [RolloutFacts] = []
        for name in names {
            guard case .id(let user) = name else { return .hidden }
            targets.append(RolloutFacts(user: user.rawValue))
        }
        return .targets(targets)
    }

    /// Nil: it names nobody.
    ///
    /// - Throws: `AdapterError` for a call that the gateway would refuse.
    private static func users(_ call: BrazeCall, _ body: JSONObject, at time: Timestamp) throws(AdapterError)
        -> [UserName]?
    {
        switch call {
        case .send, .scheduleCreate: try MessagesSend(body, at: time).recipients()
        case .trigger, .triggerScheduleCreate: try TriggerSend(body, at: time).recipients()?.all.map(\.user)
        case .track, .export, .delete, .nameAliases, .identify, .merge, .scheduleUpdate, .scheduleDelete,
            .scheduledBroadcasts, .triggerScheduleUpdate, .triggerScheduleDelete, .sendCreate, .dataSeries,
            .subscriptionSet, .subscriptionsSet, .subscriptionGet, .subscriptionUser:
            nil
        }
    }
}
