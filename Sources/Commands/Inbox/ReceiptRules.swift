import Model
import Store

/// The rules for receipts from devices. A receipt by message id is never refused, because a vendor's SDK would repeat it forever. A receipt by number
/// is refused if the vendor's SDK shows that as a failure.
enum ReceiptRules {
    static func plan(_ command: ReceiptCommand, _ context: RuleContext) -> Plan {
        switch command {
        case .report(let kind, let text, let reporter, let at):
            // A key or a name that cannot be stored is unknown. The store counts such a receipt too.
            let key = reporter.key.flatMap { Storable.isKey($0.rawValue) ? $0 : nil }
            let time = believed(at, now: context.now)
            let message = MessageID(text: text)
            if let key, message == nil, Storable.isKey(text) { return report(kind, text, key, at: time, context) }
            let reporter = Reporter(key: key, phone: nil)
            return Plan(RecordReceipt(context.scope, message, reporter, kind, at: time)) { .receipt($0) }
        case .reportNumber(let kind, let number, let caller):
            let caller = caller.isStorable ? caller : DeviceCaller()
            let number = Storable.isKey(number) ? number : ""
            return Plan(ReportNumber(context.scope, caller, number: number, kind, at: context.now)) { report in
                switch report {
                case .recorded: .receipt(.recorded)
                case .repeated: .receipt(.repeated)
                case .unknownDevice: .refused(.unknownDevice)
                case .unknownMessage: .refused(.unknownMessage)
                }
            }
        case .acknowledge(let kind, let reference, let holder, let change):
            return BadgeRules.acknowledge(kind, reference, holder, change, context)
        }
    }

    /// A receipt of a message that an upstream has named.
    private static func report(
        _ kind: ReceiptKind,
        _ reference: String,
        _ key: VendorDeviceKey,
        at time: Timestamp,
        _ context: RuleContext
    ) -> Plan {
        let caller = DeviceCaller(key: key)
        return Plan(ReportNumber(context.scope, caller, number: reference, kind, at: time)) { report in
            switch report {
            case .recorded: .receipt(.recorded)
            case .repeated: .receipt(.repeated)
            case .unknownDevice, .unknownMessage: .receipt(.orphan)
            }
        }
    }

    /// The device's own time if it is plausible; otherwise the current time.
    static func believed(_ time: Timestamp?, now: Timestamp) -> Timestamp {
        guard let time, time <= now, time + CommandLimits.receiptAge >= now else { return now }
        return time
    }
}
