import APNsSimulator

extension ScriptedAnswer {
    /// A fault that replaces the answers to a device token.
    init(token: String, fault: Fault, isDelivered: Bool = false) {
        self.init(ScriptSelector(token: token), fault: fault)
        self.isDelivered = isDelivered
    }
}

extension Fault {
    /// GOAWAY with this code and JSON reason, followed by a close. The affected stream counts as not processed unless `isProcessed`.
    static func goAway(code: Int, reason: String, isProcessed: Bool) -> Fault {
        .goingAway(
            GoAwayFault(code: code, debugText: GoAwayFault.json(reason), lastStream: isProcessed ? .this : .before)
        )
    }
}

extension RecordedRequest {
    /// The first value of a header field.
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
