import HTTPTypes
import Model

/// Whether a call may be carried out: a good signature by one of the hub's keys, for this place, with the right that the call needs.
struct HubGuard {
    let settings: HubsSettings
    let path: HubPath

    /// - Throws: `AdapterError(.unauthorized)` with the fault's name.
    func check(_ request: VendorRequest) throws(AdapterError) {
        do throws(AccessFault) {
            try judge(request)
        } catch {
            throw error.error
        }
    }

    private func judge(_ request: VendorRequest) throws(AccessFault) {
        let shown = try SharedAccessSignature(request.headers[.authorization] ?? "")
        guard shown.expiry + HubsLimits.expiryLeeway >= request.receivedAt else { throw .expired }
        let rule = settings.rule(shown.keyName)
        // Each key is tried to its end, and one that nobody has in place of a rule's: its time says nothing of what there is.
        let matches = (rule?.keys ?? [[]]).map { shown.isSigned(with: $0) }
        guard let rule, matches.contains(true) else { throw .signature }
        guard let host = request.host, shown.covers(host: host, path: path.folded) else {
            throw .audience
        }
        let right = right(request)
        guard rule.rights.contains(right) else { throw right == .manage ? .manage : .right }
    }

    /// The right that a call needs (docs/contracts/notificationhubs.md#3.2, step 5).
    private func right(_ request: VendorRequest) -> HubRight {
        switch path.call {
        case .installation, .registration, .registrationIDs: .listen
        // A device looks for its own by its channel; who sees others' manages the hub.
        case .registrations: request.method == .post || RegistrationList.isFiltered(request) ? .listen : .manage
        case .tagged: .manage
        case .messages, .batch, .message, .schedules, .schedule: .send
        // Whoever has any right is told that it is not there.
        case .later: .listen
        }
    }
}
