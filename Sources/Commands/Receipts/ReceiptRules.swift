import Model

/// What devices report of messages. Nothing a device says here is refused: a vendor's SDK would report it again for ever.
enum ReceiptRules {
    static func plan(_ command: ReceiptCommand, _ context: RuleContext) -> Plan {
        switch command {
        case .report(let kind, let text, let reporter, let at):
            guard let message = MessageID(text: text), let key = reporter.key, Storable.isKey(key.rawValue) else {
                return .settled(.receipt(.orphan))
            }
            let reporter = Reporter(key: key, phone: nil)
            let time = believed(at, now: context.now)
            return Plan(.receipt(context.scope, message, reporter, kind, at: time)) { answer in
                if case .receipt(let reply) = answer { .receipt(reply) } else { nil }
            }
        }
    }

    /// The device's own time when it can be true, else ours.
    static func believed(_ time: Timestamp?, now: Timestamp) -> Timestamp {
        guard let time, time <= now, time + CommandLimits.receiptAge >= now else { return now }
        return time
    }
}
