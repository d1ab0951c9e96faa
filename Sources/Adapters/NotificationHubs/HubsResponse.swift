import FoundationEssentials
import HTTPTypes
import Model

/// Writes the vendor's answer to one request.
struct HubsResponse {
    let request: VendorRequest
    let settings: HubsSettings

    /// Whether the caller may see tokens that it did not send.
    private func showsTokens(_ path: HubPath) -> Bool {
        (try? HubGuard(settings: settings, path: path).check(request))?.showsTokens ?? false
    }

    func answer(_ replies: [Reply]) -> VendorResponse {
        guard let path = HubPath(request.path), let reply = replies.last else {
            return failure(HubsError(.unavailable(retryAfter: nil)))
        }
        for case .refused(let refusal) in replies { return failure(HubsError(refusal)) }
        let success =
            switch path.call {
            case .registration, .registrations, .registrationIDs, .tagged: registration(replies, path)
            case .installation, .messages, .batch, .message, .schedules, .schedule, .later: success(reply, path)
            }
        return success ?? failure(HubsError(.unavailable(retryAfter: nil)))
    }

    /// The scheme and host of locations. Assumed: https, whatever the gateway itself uses, because the vendor's SDKs accept only https.
    private var address: String { "https://\(request.authority ?? "")" }

    /// Nil: the replies belong to another call.
    private func registration(_ replies: [Reply], _ path: HubPath) -> VendorResponse? {
        switch (path.call, request.method, replies.first, replies.last) {
        case (.registrationIDs, .post, .registration(.drawn(let key)), _):
            let place =
                "\(address)/\(PercentCoding.encode(path.hub))/registrationids/\(Registration.id(drawn: key.rawValue))\(version)"
            return empty(201, [("Location", place)])
        case (.registrations, .get, .registration(.listed(let found)), _):
            return feed(RegistrationList(request, tag: nil), found, path)
        case (.tagged(let tag), .get, .registration(.listed(let found)), _):
            return feed(RegistrationList(request, tag: tag), found, path)
        case (.registrations, .post, .registration(.registered(let made)), .registration(.standing(let standing?))):
            return Registration.id(made.key).flatMap { entry($0, standing, path, isNew: true) }
        case (.registration(let id), .put, .registration(.registered), .registration(.standing(let standing?))):
            return entry(id, standing, path)
        case (.registration, .delete, .registration(.registered), .registration(.unregistered)): return empty(200)
        case (.registration(let id), .get, .registration(.standing(let standing)), _):
            return standing.flatMap { entry(id, $0, path, isRead: true) } ?? failure(HubsError(404, ""))
        case (.registration(let id), .put, .registration(.standing(let standing)), _),
            (.registration(let id), .delete, .registration(.standing(let standing)), _):
            return refusal(of: id, standing)
        default: return nil
        }
    }

    /// The answer if a registration was read and not written.
    private func refusal(of id: String, _ standing: IdentityStanding?) -> VendorResponse {
        let request = RegistrationRequest(
            id: id,
            request: request,
            settings: HubsSettings(BindingSettings(tenant: "", app: ""))
        )
        switch request.verdict(on: standing) {
        case .mismatch: return failure(HubsError(412, ""))
        case .gone: return failure(HubsError(410, ""))
        case .missing: return failure(HubsError(404, ""))
        // The call was given up, because other calls kept changing the registration.
        case .write: return failure(HubsError(.outdated))
        }
    }

    private static let atom = "application/atom+xml; type="

    private func entry(
        _ id: String,
        _ standing: IdentityStanding,
        _ path: HubPath,
        isNew: Bool = false,
        isRead: Bool = false
    ) -> VendorResponse? {
        guard var found = Registration(id: id, standing) else { return nil }
        if isRead, !showsTokens(path) { found.channel = Installation.masked(found.channel) }
        let place = "\(address)/\(PercentCoding.encode(path.hub))/registrations/\(id)\(version)"
        var extra = [("Content-Type", Self.atom + "entry; charset=utf-8"), ("ETag", found.weakTag)]
        if isNew { extra.append(("Content-Location", place)) }
        return body(200, found.entry(at: place, isAlone: true), extra)
    }

    private func feed(_ list: RegistrationList, _ found: [ListedIdentity], _ path: HubPath) -> VendorResponse? {
        guard let (text, next) = try? list.feed(of: found, hub: PercentCoding.encode(path.hub), address: address) else {
            return nil
        }
        var extra = [("Content-Type", Self.atom + "feed; charset=utf-8")]
        if let next { extra.append(("x-ms-continuationtoken", next)) }
        return body(200, text, extra)
    }

    /// Nil: the reply belongs to another call.
    private func success(_ reply: Reply, _ path: HubPath) -> VendorResponse? {
        switch (path.call, request.method, reply) {
        case (.installation, .put, .registration(.enlisted)), (.installation, .patch, .registration(.enlisted)):
            return empty(200)
        case (.installation, .delete, .registration(.unregistered)): return empty(204)
        case (.installation(let id), .get, .registration(.standing(let standing))):
            guard let found = standing.flatMap({ Installation(id: id, $0, at: request.receivedAt) }) else {
                return failure(HubsError(.unknownDevice))
            }
            return body(200, found.document(showsToken: showsTokens(path)))
        // A PUT that read first was given up, because other calls kept changing the installation.
        case (.installation, .put, .registration(.standing)): return failure(HubsError(.outdated))
        case (.installation(let id), .patch, .registration(.standing(let standing))):
            // If the installation exists, the call was given up, because other calls kept changing it.
            let isThere = standing.flatMap { Installation(id: id, $0, at: request.receivedAt) } != nil
            return failure(HubsError(isThere ? .outdated : .unknownDevice))
        case (.messages, .post, .submission(.accepted(let id, recipients: _))),
            (.schedules, .post, .submission(.accepted(let id, recipients: _))):
            return created(id, path)
        case (.messages, .post, .submission(.numbered(let accepted))),
            (.batch, .post, .submission(.numbered(let accepted))),
            (.schedules, .post, .submission(.numbered(let accepted))):
            return created(accepted.message, path)
        case (.schedule, .delete, .submission(.controlled(let isCanceled))):
            // Assumed: a send that is in progress, done or already canceled counts as not found.
            return isCanceled ? empty(200) : failure(HubsError(.unknownMessage))
        case (.message, .get, .submission(.report(let report))):
            return body(200, Telemetry(report, host: request.authority ?? "", hub: path.hub, version: version).xml)
        default: return nil
        }
    }

    private var version: String { APIVersion.named(request).map { "?api-version=\($0)" } ?? "" }

    /// docs/contracts/notificationhubs.md#7: the id is the last part of the location.
    private func created(_ id: MessageID, _ path: HubPath) -> VendorResponse {
        let hub = PercentCoding.encode(path.hub)
        // The id of a schedule has other separators (docs/contracts/notificationhubs.md#7.7).
        let text = HubMessageID.text(id)
        let place =
            switch path.call {
            case .schedules: "schedulednotifications/\(text.replacing("-", with: "_"))\(version)"
            case .batch: "messages/$batch/\(text)\(version.isEmpty ? "?" : version + "&")direct"
            default: "messages/\(text)\(version)"  // only sends have a location
            }
        return empty(201, [("Location", "\(address)/\(hub)/\(place)")])
    }

    func failure(_ error: HubsError) -> VendorResponse {
        let tracking = TrackingID(request)
        var extra: [(String, String)] = [("TrackingId", "\(tracking)_G1")]
        if let after = error.retryAfter { extra.append(("Retry-After", "\(after)")) }
        guard !error.isBare else {
            return VendorResponse(
                status: error.status,
                headers: fields([("TrackingId", "\(tracking)"), ("x-ms-correlation-request-id", "\(tracking)")])
            )
        }
        let detail =
            "\(XMLText.escape(error.text)).TrackingId:\(tracking)_G1,TimeStamp:\(HubTime.american(request.receivedAt))"
        let text = "<Error><Code>\(error.status)</Code><Detail>\(detail)</Detail></Error>"
        return VendorResponse(status: error.status, headers: fields([Self.type] + extra), body: Array(text.utf8))
    }

    /// The content type of all answers of the service, including JSON (docs/contracts/notificationhubs.md#4.2).
    private static let type = ("Content-Type", "application/xml; charset=utf-8")

    private func empty(_ status: Int, _ extra: [(String, String)] = []) -> VendorResponse {
        VendorResponse(
            status: status,
            headers: fields([Self.type, ("TrackingId", "\(TrackingID(request))_G1")] + extra)
        )
    }

    /// `extra` may replace the content type.
    private func body(_ status: Int, _ text: String, _ extra: [(String, String)] = []) -> VendorResponse {
        VendorResponse(
            status: status,
            headers: fields([Self.type, ("TrackingId", "\(TrackingID(request))_G1")] + extra),
            body: Array(text.utf8)
        )
    }

    private func fields(_ pairs: [(String, String)]) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs { if let name = HTTPField.Name(name) { fields[name] = value } }
        return fields
    }
}
