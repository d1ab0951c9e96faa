import HTTPTypes
import Model

/// Checks whether a call is authorized: a valid signature by one of the hub's keys, for this path, with the right that the call needs.
struct HubGuard {
    let settings: HubsSettings
    let path: HubPath

    /// - Throws: `AdapterError(.unauthorized)` with the name of the fault.
    func check(_ request: VendorRequest) throws(AdapterError) -> HubAccess {
        do throws(AccessFault) {
            return try judge(request)
        } catch {
            throw error.error
        }
    }

    private func judge(_ request: VendorRequest) throws(AccessFault) -> HubAccess {
        let shown = try SharedAccessSignature(request.headers[.authorization] ?? "")
        guard shown.expiry + HubsLimits.expiryLeeway >= request.receivedAt else { throw .expired }
        let rule = settings.rule(shown.keyName)
        // All keys are compared completely, and an unknown rule is compared with an empty key, so that the time does not reveal which rules exist.
        let matches = (rule?.keys ?? [[]]).map { shown.isSigned(with: $0) }
        guard let rule, matches.contains(true) else { throw .signature }
        guard let host = request.host, shown.covers(host: host, path: path.folded) else {
            throw .audience
        }
        let right = right(request)
        guard rule.rights.contains(right) else { throw right == .manage ? .manage : .right }
        let manages = rule.rights.contains(.manage)
        return HubAccess(
            setsTags: manages || settings.listenMayTag,
            showsTokens: manages || settings.listenMayTag,
            user: manages ? shown.user : nil,
            manages: manages
        )
    }

    /// The right that a call needs (docs/contracts/notificationhubs.md#3.2, step 5).
    private func right(_ request: VendorRequest) -> HubRight {
        switch path.call {
        case .installation, .registration, .registrationIDs: .listen
        // A device searches for its own registrations by channel; listing others requires the manage right.
        case .registrations: request.method == .post || RegistrationList.isFiltered(request) ? .listen : .manage
        case .tagged: .manage
        case .messages, .batch, .message, .schedules, .schedule: .send
        // A caller with any right is answered that the call does not exist.
        case .later: .listen
        }
    }
}
