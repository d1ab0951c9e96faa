import HTTPTypes
package import Model

/// The calls that may reach the vendor later (docs/routing.md#forwarding).
extension UPMCAdapter: ForwardingVendor {
    /// Keys belong to the side that issued them, and numbers of groups to the side that created the group. A purchase would count twice.
    package func mayForward(_ request: VendorRequest) -> Bool {
        switch UPMCCall(path: request.path) {
        case .registerService, .addService, .registerUser, .registerServiceAndUser, .registerWebServiceAndUser,
            .deleteService, .deleteUser, .setBadge, .alive, .lastSession, .acknowledge, .read:
            true
        default: false  // the calls of which the other side does not know a name, reads and sends
        }
    }

    private static let credentials: Set<String> = ["AUTHKEY", "USER_TOKEN"]

    /// Without the key and the token of the user. Calls that are forwarded have no files, so that a multipart form can leave as a form.
    package func stored(_ request: VendorRequest, settings: BindingSettings) -> VendorRequest {
        var stored = request.without { Self.credentials.contains($0) }
        guard let type = request.headers[.contentType], type.lowercased().hasPrefix("multipart/form-data") else {
            return stored
        }
        stored.body = request.body
        guard let parts = try? MultipartBody.parse(request.body, contentType: type),
            parts.contains(where: { Self.credentials.contains($0.name) })
        else { return stored }
        let kept = parts.filter { !$0.isFile && !Self.credentials.contains($0.name) }
        let pairs = kept.map { part in
            let value = String(decoding: part.bytes, as: UTF8.self)
            return "\(PercentCoding.encode(part.name))=\(PercentCoding.encode(value))"
        }
        stored.headers[.contentType] = Self.formType
        stored.body = Array(pairs.joined(separator: "&").utf8)
        return stored
    }

    /// With `security.using`, the vendor refuses calls of apps that have no key of its own (docs/contracts/upmc.md#1.4). The gateway asks for one as the app
    /// would, for the same app, user and token. Assumed: a device that is perhaps not registered asks with the prefix of one that is not.
    ///
    /// Calls with files are left out: the repetition is a form.
    package func keyCall(for request: VendorRequest, refusedBy verdict: ForwardVerdict) -> VendorRequest? {
        guard verdict == Self.lacksKey, let call = UPMCCall(path: request.path), call.caller == .device,
            !call.isMarketing, call != .askingAuthorization, call != .putLog,
            let parameters = try? self.parameters(of: request), let end = request.path.lastIndex(of: "/")
        else { return nil }
        var fields = ["APP_ID", "PSID", "PNSID", "DEVICE_ID"].map { ($0, parameters.echo($0)) }
        let user = parameters.echo("CUID")
        fields.append(("CUID", (call.registers ? AuthKey.newPrefix : "") + AuthKey.plain(user)))
        let form = fields.filter { !$0.1.isEmpty }.map { "\($0.0)=\(PercentCoding.encode($0.1))" }
        var ask = request
        ask.route = UPMCCall.askingAuthorization.rawValue
        ask.method = .post
        ask.path = String(request.path[..<end]) + UPMCCall.askingAuthorization.path
        ask.query = nil
        ask.headers[.contentType] = Self.formType
        // The gateway reads the answer.
        ask.headers[.acceptEncoding] = nil
        ask.body = Array(form.joined(separator: "&").utf8)
        return ask
    }

    package func showsOwnKey(_ request: VendorRequest, settings: BindingSettings) -> Bool {
        guard let call = UPMCCall(path: request.path), call.caller == .device, !call.isMarketing,
            let parameters = try? self.parameters(of: request)
        else { return false }
        return Guard(call, parameters, UPMCSettings(settings), settings.secrets).hasKey(request)
    }

    /// In a form with the other fields; in the query where the body is not one.
    package func keyed(_ request: VendorRequest, by answer: VendorResponse) -> VendorRequest? {
        let (verdict, body) = Self.read(answer)
        guard verdict == .accepted, let key = (body?.array?.first ?? body)?["AUTHKEY"]?.lenientString,
            (1...UPMCLimits.tokenBytes).contains(key.utf8.count)
        else { return nil }
        var keyed = request.without { $0 == "AUTHKEY" }
        let field = "AUTHKEY=" + PercentCoding.encode(key)
        let type = request.headers[.contentType]?.lowercased() ?? ""
        if type.hasPrefix(Self.formType), !keyed.body.isEmpty {
            keyed.body += Array("&\(field)".utf8)
        } else {
            keyed.query = keyed.query.map { "\($0)&\(field)" } ?? field
        }
        return keyed
    }

    private static let formType = "application/x-www-form-urlencoded"

    /// The meaning of an answer without a valid key.
    private static let lacksKey = ForwardVerdict.credential("code \(UPMCCode.unauthorized.rawValue)")

    package func verdict(of response: VendorResponse) -> ForwardVerdict { Self.read(response).verdict }

    /// The meaning of an answer, and its `BODY`. The code is in the body, below 200 (docs/contracts/upmc.md#1.5).
    static func read(_ response: VendorResponse) -> (verdict: ForwardVerdict, body: JSON?) {
        guard (200...201).contains(response.status) else { return (ForwardVerdict(status: response.status), nil) }
        let answer = try? JSONParser.parse(response.body)
        guard let code = answer?["HEADER"]?["RESULT_CODE"]?.lenientString else {
            return (.failed("unreadable answer", after: nil), nil)
        }
        let verdict: ForwardVerdict =
            switch code {
            case UPMCCode.success.rawValue: .accepted
            case UPMCCode.serverError.rawValue, "50300", "4500": .failed("code \(code)", after: nil)
            // The app was deleted, or the key has expired.
            case UPMCCode.unauthorized.rawValue, UPMCCode.denied.rawValue, "4444", "-500": .credential("code \(code)")
            default: .refused("code \(code.printable(8))")
            }
        return (verdict, answer?["BODY"])
    }
}
