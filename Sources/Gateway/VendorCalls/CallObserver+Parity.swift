import GatewayHTTP
import HTTPTypes
import Model

/// Whether the gateway agrees with the upstream, as observed calls show it (docs/routing.md#parity). Nothing is sent, and nothing is carried out twice.
extension CallObserver {
    private static let mask = CaptureMask(keepsTexts: false)

    /// Adds one observation about a call.
    func note(_ metric: ParityMetric, _ observed: ObservedCall, differs: Bool, _ facts: () -> JSONObject) {
        let figure = ParityFigure(metric, samples: 1, differences: differs ? 1 : 0)
        note(figure, observed, facts)
    }

    private func note(_ figure: ParityFigure, _ observed: ObservedCall, _ facts: () -> JSONObject) {
        parity?.add(figure, of: observed.binding, observed.adapter.vendor, at: observed.call.receivedAt) {
            var shown = facts()
            shown["call"] = .string(observed.call.route)
            return shown
        }
    }

    // MARK: Answers

    /// Whether the answers to calls of a kind are compared by the replies to the observed commands. Sends are not, because the gateway's answer to a send would be that of
    /// a second send.
    private static func isCompared(_ kind: CallKind) -> Bool {
        switch kind {
        case .device, .user, .receipt: true
        case .message, .read, .send, .other: false
        }
    }

    /// Notes what a call and the replies to its observed commands say about the two sides.
    func noteAgreement(_ observed: ObservedCall, _ commands: [Command], _ replies: [Reply]) {
        guard parity != nil else { return }
        let (adapter, settings) = (observed.adapter, observed.binding.settings)
        if Self.isCompared(observed.kind),
            let own = adapter.comparable(replies, to: observed.call, response: observed.answer, settings: settings)
        {
            noteAnswer(adapter.encode(own, for: observed.call, settings: settings), observed)
        }
        if observed.kind == .receipt, !observed.isReceiptCounted {
            noteReceipts(replies, of: observed.call, adapter, observed.binding)
        }
        for case .submission(.observe(let message)) in commands { notePayload(of: message, observed) }
        for case .submission(.observed(_, let reach?)) in replies { noteReach(reach, observed) }
    }

    private func noteAnswer(_ ours: VendorResponse, _ observed: ObservedCall) {
        let names = observed.adapter.differences(ours: ours, theirs: observed.answer, for: observed.call)
        note(.responses, observed, differs: !names.isEmpty) { Self.shown(names, ours, observed.answer) }
    }

    private static func shown(_ names: [String], _ ours: VendorResponse, _ theirs: VendorResponse) -> JSONObject {
        func body(_ response: VendorResponse) -> JSON {
            let type = response.headers[.contentType]
            return .string(mask.body(response.body, contentType: type, limit: ParityTally.bodyLimitBytes))
        }
        let fields = names.prefix(ParityTally.fieldLimit).map { JSON.string(CaptureMask.cut($0, 128)) }
        return [
            "fields": .array(fields), "status": [.int(ours.status), .int(theirs.status)], "ours": body(ours),
            "theirs": body(theirs),
        ]
    }

    /// A call that the vendor accepted, and that became no command: either it establishes nothing, or the gateway would have refused it.
    func noteUnread(_ observed: ObservedCall) {
        guard parity != nil, observed.kind != .read, (200..<300).contains(observed.answer.status) else { return }
        do throws(AdapterError) {
            _ = try observed.adapter.decode(observed.call, settings: observed.binding.settings)
        } catch {
            // Proofs are counted for sends; a device of the vendor has none of the gateway.
            guard error.code != .unauthorized else { return }
            let ours = observed.adapter.refuse(error, for: observed.call, settings: observed.binding.settings)
            let names = observed.adapter.differences(ours: ours, theirs: observed.answer, for: observed.call)
            let reason = "\(error.code)"
            note(.observed, observed, differs: !names.isEmpty) { ["lost": .string(reason)] }
            if Self.isCompared(observed.kind) { noteAnswer(ours, observed) }
            // Some dialects read no message whose payload does not fit.
            let isTooLarge = observed.kind == .send && error.code == .tooLarge
            if isTooLarge, !names.isEmpty { note(PayloadTrial.Result(error), observed) }
        }
    }

    // MARK: Reads

    /// The commands of a read if they change nothing, so that the gateway may carry it out too. Empty: it is not compared.
    func comparedReads(_ observed: ObservedCall) -> [Command] {
        guard let parity, observed.kind == .read, (200..<300).contains(observed.answer.status) else { return [] }
        // Reads of other dialects have passed this limit before they were queued.
        if observed.adapter.observesReads, !parity.takesRead(at: observed.call.receivedAt) { return [] }
        return pureReads(observed)
    }

    private func pureReads(_ observed: ObservedCall) -> [Command] {
        let found = try? observed.adapter.decode(observed.call, settings: observed.binding.settings)
        guard let commands = found, commands.allSatisfy(\.isPureRead) else { return [] }
        return commands
    }

    /// Carries out a read that the upstream has answered, and compares the answers.
    func compareRead(_ observed: ObservedCall) async {
        let commands = await Self.read(observed) { self.pureReads($0) }
        guard !commands.isEmpty else { return }
        let replies = await replies(to: commands, observed, readsOnly: true)
        guard !replies.isEmpty, !replies.contains(where: Self.isUnavailable) else { return }
        let settings = observed.binding.settings
        noteAnswer(observed.adapter.encode(replies, for: observed.call, settings: settings), observed)
    }

    // MARK: Messages

    /// Whether a reply to a receipt says that the gateway does not know its message.
    static func isUnknown(_ reply: Reply) -> Bool {
        switch reply {
        case .receipt(.orphan), .receipt(.acknowledged(false, _)), .refused(.unknownMessage): true
        default: false  // known, or not a receipt
        }
    }

    /// Notes whether receipts belong to messages that the gateway knows.
    func noteReceipts(_ replies: [Reply], of call: VendorRequest, _ adapter: any UpstreamAdapter, _ binding: BoundCall)
    {
        var figure = ParityFigure(.unknown, samples: 0, differences: 0)
        for reply in replies {
            if Self.isUnknown(reply) {
                figure.samples += 1
                figure.differences += 1
            } else if case .receipt = reply {
                figure.samples += 1
            }
        }
        parity?.add(figure, of: binding, adapter.vendor, at: call.receivedAt) { ["call": .string(call.route)] }
    }

    private func noteReach(_ reach: ObservedReach, _ observed: ObservedCall) {
        let counted = observed.adapter.audienceCount(in: observed.answer)
        guard let figure = reach.figure(counted: counted) else { return }
        note(figure, observed) { ["targets": .int(figure.samples), "missing": .int(figure.differences)] }
    }

    /// Notes whether the gateway's payload would be refused or shortened. The vendor's own payload is not known.
    private func notePayload(of message: ObservedMessage, _ observed: ObservedCall) {
        let trial = PayloadTrial(observed.adapter, message, of: observed.binding, at: observed.call.receivedAt)
        if let result = trial.result { note(result, observed) }
    }

    private func note(_ result: PayloadTrial.Result, _ observed: ObservedCall) {
        switch result {
        case .fits: note(.payload, observed, differs: false) { [:] }
        case .differs(let reason, let fields):
            note(.payload, observed, differs: true) {
                let names = fields.prefix(ParityTally.fieldLimit).map { JSON.string($0) }
                return ["reason": .string(reason), "fields": .array(Array(names))]
            }
        }
    }
}

/// The payload that the gateway would send for a message of an upstream, to a target about which nothing is known. Pure.
struct PayloadTrial {
    enum Result: Equatable {
        case fits
        /// Refused, or shortened in these fields.
        case differs(reason: String, fields: [String])

        init(_ refused: AdapterError) {
            self = .differs(reason: "\(refused.code)", fields: refused.field.map { [$0] } ?? [])
        }
    }

    private let adapter: any VendorAdapter
    private let message: ObservedMessage
    private let binding: BoundCall
    private let time: Timestamp

    init(_ adapter: any VendorAdapter, _ message: ObservedMessage, of binding: BoundCall, at time: Timestamp) {
        self.adapter = adapter
        self.message = message
        self.binding = binding
        self.time = time
    }

    /// Nil: the text is known at the vendor only, or the message itself decides about its targets.
    var result: Result? {
        let submission = message.submission
        let content = submission.content
        let hasText = !content.body.isEmpty || content.title != nil || content.raw != nil || content.isSilent
        guard submission.template == nil, content.activity == nil, hasText else { return nil }
        let notification = Notification(
            message: .none,
            origin: adapter.vendor,
            content: content,
            sentAt: time,
            collapseID: submission.collapseID,
            numbers: message.references.first.map { [adapter.vendor: $0] } ?? [:]
        )
        do throws(AdapterError) {
            let payload = try adapter.payload(
                for: notification,
                to: .unknown(in: binding.app, adapter.vendor, key: "parity"),
                settings: binding.settings
            )
            return payload.reduced.isEmpty ? .fits : .differs(reason: "reduced", fields: payload.reduced)
        } catch {
            if error.code == .withheld { return nil }
            return Result(error)
        }
    }
}
