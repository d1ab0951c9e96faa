import HTTPTypes
import Model

/// The answer to one call: `HEADER` and `BODY`, with all scalars as strings, under HTTP 200 (docs/contracts/upmc.md#1.3).
struct UPMCResponse {
    let endpoint: UPMCCall
    /// The parameters of the request, because answers repeat its ids; empty if the body was unreadable.
    let parameters: Parameters
    let settings: UPMCSettings
    /// The secret for the keys of apps.
    let secret: [UInt8]?
    let receivedAt: Timestamp

    /// The answer to the replies of the commands; `replies` is empty if the call had no commands.
    func answer(_ replies: [Reply]) -> VendorResponse {
        guard endpoint.isHistory else { return answer(replies.first) }
        if case .refused(let refusal)? = replies.first {
            return fail(UPMCError(refusal, at: endpoint, isReserved: false))
        }
        return history(replies) ?? mismatch()
    }

    private func answer(_ reply: Reply?) -> VendorResponse {
        if endpoint.isMarketing { return marketing(reply) }
        if endpoint.isSend { return send(reply) }
        switch (endpoint, reply) {
        case (.askingAuthorization, nil): return list([["AUTHKEY": .string(key(for: requestUser))]])
        case (.brokerConfiguration, nil): return list([["SERVICE_STOP": "Y"]])
        case (.putLog, nil): return list([[:]])
        // Some libraries send logs without naming an app. Logs are discarded in any case.
        case (.putLog, .refused(.unknownBinding)): return list([[:]])
        // Apps call this before the device is registered.
        case (.alive, .inbox), (.alive, .refused(.unknownDevice)): return list([[:]])
        case (_, .refused(let refusal)): return fail(UPMCError(refusal, at: endpoint, isReserved: false))
        case (_, .registration(let reply)): return registration(reply)
        case (_, .group(let reply)): return groups(reply)
        case (_, .receipt(.acknowledged(_, let badge))):
            return list([endpoint == .read ? ["BADGENO": .string(String(badge))] : [:]])
        case (_, .badge(.count(let count))): return list([["BADGENO": .string(String(count))]])
        case (_, .receipt), (_, .inbox), (_, .submission), (_, .media), (_, .user), (_, .preference), (_, .sender),
            (_, .campaign), (_, nil):
            return mismatch()
        }
    }

    func refuse(_ error: AdapterError) -> VendorResponse {
        if endpoint.isMarketing {
            let text = UPMCError(error).text
            return .json(
                ["code": .string(UPMCCode.badRequest.rawValue), "message": .string(text)],
                status: error.code == .unreadable ? 400 : 200
            )
        }
        return fail(UPMCError(error))
    }

    /// An error in the format of this call's family.
    func fail(_ error: UPMCError) -> VendorResponse {
        .failure(error, body: endpoint.isSend ? .object(JSONObject()) : .array([.object(JSONObject())]))
    }

    /// The reply does not belong to this call. That is a bug of the gateway, and it is answered like its other failures.
    private func mismatch() -> VendorResponse {
        fail(UPMCError(.unavailable(retryAfter: nil), at: endpoint, isReserved: false))
    }

    // MARK: Registration

    private var requestUser: String { parameters.echo("CUID") }

    private func key(for user: String) -> String {
        AuthKey(applicationID: settings.applicationID, secret: secret)
            .issue(user: user, token: parameters.echo("PSID"), now: receivedAt)
    }

    private func registration(_ reply: RegistrationReply) -> VendorResponse {
        let application = JSON.string(settings.applicationID)
        let token = JSON.string(parameters.echo("PSID"))
        switch (endpoint, reply) {
        case (.registerUser, .enlisted(_, let user)), (.registerUser, .assigned(let user)):
            let name = user.user?.rawValue ?? AuthKey.guest
            return list([
                ["APPID": application, "PSID": token, "CUID": .string(name), "AUTHKEY": .string(key(for: name))]
            ])
        case (_, .enlisted(_, let user)):
            return list([
                [
                    "DEVICEID_CHANGE_YN": user.hasMoved ? "Y" : "N", "APPID": application,
                    "AUTHKEY": .string(key(for: user.user?.rawValue ?? AuthKey.guest)), "PSID": token,
                ]
            ])
        case (.getService, .standing(let standing)):
            let user = standing?.user?.rawValue ?? AuthKey.guest
            return list([
                [
                    "ISREGISTERED": .string(verdict(standing)), "APPID": application, "PSID": token,
                    "CUID": .string(user),
                ]
            ])
        case (_, .unregistered), (_, .assigned): return list([[:]])
        default: return mismatch()  // replies to other commands
        }
    }

    /// `Y`: registered with this token; `C`: registered for another user; `N`: not registered (docs/contracts/upmc.md#1.8.5).
    private func verdict(_ standing: IdentityStanding?) -> String {
        let shown = (try? DeviceName(parameters))?.token
        guard let standing, standing.state == .active, let token = standing.token, token == shown else { return "N" }
        let user = (try? DeviceName.user(parameters)) ?? nil
        return user == nil || user == standing.user ? "Y" : "C"
    }

    // MARK: Groups

    private func groups(_ reply: GroupReply) -> VendorResponse {
        switch reply {
        case .membersChanged:
            return list([
                ["GROUPSEQ": .string(parameters.echo("GROUPSEQ")), "CUID": .string(requestUser)]
            ])
        case .created(let group): return list([Self.group(group)])
        case .listed(let groups): return list(groups.map(Self.group))
        case .members(let members):
            return list(
                members.map { member in
                    var entry = Self.group(member.group)
                    entry["CUID"] = .string(member.user.rawValue)
                    entry["CNAME"] = .string(member.name ?? "")
                    return entry
                }
            )
        case .deleted: return list([[:]])
        // Replies to commands that this interface does not use.
        default: return mismatch()
        }
    }

    private static func group(_ group: TitledGroup) -> JSONObject {
        ["GROUPSEQ": .string(group.name.rawValue), "GROUPNAME": .string(group.title)]
    }

    // MARK: Sends

    private func send(_ reply: Reply?) -> VendorResponse {
        let isReserved = UPMCRequest(
            endpoint: endpoint,
            parameters: parameters,
            settings: settings,
            receivedAt: receivedAt
        ).isReserved
        switch reply {
        case .submission(.numbered(let accepted)):
            let body = isReserved ? ["RESERVE_SEQNO": .string(accepted.number)] : report(accepted)
            return .success(endpoint, .object(body))
        case .refused(let refusal): return fail(UPMCError(refusal, at: endpoint, isReserved: isReserved))
        default: return mismatch()  // replies to other commands
        }
    }

    private func report(_ accepted: NumberedAcceptance) -> JSONObject {
        var counts: [DeviceName.Network: Int] = [:]
        if let keys = accepted.keys {
            for key in keys { counts[DeviceName.Network(key) ?? .apns, default: 0] += 1 }
        } else {
            // Assumed: all are counted as APNs, because the maintained counts are not separated by network and only APNs is sent to.
            counts[.apns] = accepted.targetCount
        }
        var body: JSONObject = [
            "SENDMSG_SEQNO": .string(accepted.number),
            "REG_SUCCESS_CNT": .string(String(accepted.targetCount)),
            "REG_FAIL_CNT": .string(String(accepted.missing.count)),
        ]
        if accepted.keys != nil { body["NOTEXISTCUIDS"] = .array(accepted.missing.map { .string($0.rawValue) }) }
        for network in [DeviceName.Network.apns, .fcm, .gcm, .upns, .web] {
            body[network.rawValue] = .string(String(counts[network] ?? 0))
        }
        for name in ["CUST_KEY", "CUST_VAR1", "CUST_VAR2", "CUST_VAR3"] where parameters.has(name) {
            body[name] = .string(parameters.echo(name))
        }
        body["HOST_URL"] = ""
        return body
    }

    // MARK: Marketing

    private func marketing(_ reply: Reply?) -> VendorResponse {
        guard case .refused(let refusal)? = reply else {
            return .json(["code": .string(UPMCCode.success.rawValue), "message": "SUCCESS"])
        }
        let error = UPMCError(refusal, at: endpoint, isReserved: false)
        let text = refusal == .unknownBinding ? "appId is not registered" : error.text
        return .json(["code": .string(error.code.rawValue), "message": .string(text)])
    }

    func list(_ entries: [JSONObject]) -> VendorResponse {
        .success(endpoint, .array(entries.map { .object($0) }))
    }
}

extension VendorResponse {
    static func success(_ endpoint: UPMCCall, _ body: JSON) -> VendorResponse {
        .json([
            "HEADER": [
                "RESULT_CODE": .string(UPMCCode.success.rawValue), "RESULT_BODY": "OK",
                "SERVICE": .string(endpoint.rawValue),
            ],
            "BODY": body,
        ])
    }

    static func failure(_ error: UPMCError, body: JSON) -> VendorResponse {
        .json([
            "HEADER": ["RESULT_CODE": .string(error.code.rawValue), "RESULT_BODY": .string(error.text)],
            "BODY": body,
        ])
    }

    static func json(_ value: JSON, status: Int = 200) -> VendorResponse {
        var headers = HTTPFields()
        headers[.contentType] = "application/json;charset=UTF-8"
        headers[.accessControlAllowOrigin] = "*"
        return VendorResponse(status: status, headers: headers, body: JSONWriter.bytes(value))
    }

    /// Web pages may read the answers to apps, but not those to back ends.
    func shared(from endpoint: UPMCCall) -> VendorResponse {
        guard endpoint.caller == .sender else { return self }
        var response = self
        response.headers[.accessControlAllowOrigin] = nil
        return response
    }

    /// The answer to a browser's preflight request (docs/contracts/upmc.md#1.3).
    static var preflight: VendorResponse {
        var headers = HTTPFields()
        headers[.accessControlAllowOrigin] = "*"
        headers[.accessControlAllowMethods] = "POST, GET, OPTIONS"
        headers[.accessControlAllowHeaders] = "*"
        headers[.accessControlMaxAge] = "86400"
        return VendorResponse(status: 204, headers: headers)
    }
}
