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
        stored.headers[.contentType] = "application/x-www-form-urlencoded"
        stored.body = Array(pairs.joined(separator: "&").utf8)
        return stored
    }

    /// The code is in the body, below 200 (docs/contracts/upmc.md#1.5).
    package func verdict(of response: VendorResponse) -> ForwardVerdict {
        guard (200...201).contains(response.status) else { return ForwardVerdict(status: response.status) }
        guard let answer = try? JSONParser.parse(response.body),
            let code = answer["HEADER"]?["RESULT_CODE"]?.lenientString
        else { return .failed("unreadable answer", after: nil) }
        switch code {
        case UPMCCode.success.rawValue: return .accepted
        case UPMCCode.serverError.rawValue, "50300", "4500": return .failed("code \(code.prefix(8))", after: nil)
        // The app was deleted, or the key has expired.
        case UPMCCode.unauthorized.rawValue, UPMCCode.denied.rawValue, "4444", "-500":
            return .credential("code \(code.prefix(8))")
        default: return .refused("code \(code.prefix(8))")
        }
    }
}
