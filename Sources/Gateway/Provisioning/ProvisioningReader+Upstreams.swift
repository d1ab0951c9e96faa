import Model
import Outgoing
import Secrets

// Credentials of kind `upstream-<vendor>`.
extension ProvisioningReader {
    /// Reads the fields that follow `id` and `kind`.
    ///
    /// - Throws: `ProvisioningProblem` that names the field and says what it needs.
    func upstream(
        _ id: CredentialID,
        _ kind: String,
        _ fields: inout StrictFields
    ) throws(ProvisioningProblem) -> ProvisioningFile.Credential {
        let path = fields.path
        guard let name = UpstreamKind.vendor(of: kind), let vendor = vendors.upstreams[name] else {
            let known = (["apns-token", "apns-certificate"] + vendors.upstreamKinds).joined(separator: ", ")
            throw ProvisioningProblem(path: "\(path).kind", problem: "'\(kind)' is not supported; use one of \(known)")
        }
        let form = vendor.upstreamForm
        let url = try upstreamURL(&fields, form)
        var settings = UpstreamSettings(vendor: name)
        for field in form.fields { try read(field, &fields, into: &settings) }
        let roots = try file(&fields, "trustRootsFile", path)
        if let roots, !OutgoingServer.areCertificates(roots) {
            throw ProvisioningProblem(
                path: "\(path).trustRootsFile",
                problem: "contains no certificate that can be read; it must be PEM"
            )
        }
        let rate = try fields.rate("callsPerSecond")
        try fields.finish()
        return .init(
            id: id,
            secret: .upstream(settings),
            endpoint: url,
            trustRoots: roots,
            pushesPerSecond: rate
        )
    }

    private func upstreamURL(
        _ fields: inout StrictFields,
        _ form: UpstreamForm
    ) throws(ProvisioningProblem) -> String {
        let text = try fields.text("url")
        guard let url = OutgoingURL(text), !url.target.contains("?") else {
            throw ProvisioningProblem(
                path: "\(fields.path).url",
                problem: "must be an address like \(form.exampleURL), without user name and query"
            )
        }
        return url.target == "/" ? url.origin : url.url
    }

    private func read(
        _ field: UpstreamForm.Field,
        _ fields: inout StrictFields,
        into settings: inout UpstreamSettings
    ) throws(ProvisioningProblem) {
        switch field.kind {
        case .secret:
            let secret =
                field.isRequired ? try self.secret(&fields, field.name) : try optionalSecret(&fields, field.name)
            settings.secrets[field.name] = secret
        case .text:
            let text = field.isRequired ? try fields.text(field.name) : try fields.optionalText(field.name)
            settings.values[field.name] = text.map { .string($0) }
        case .flag(let standard):
            settings.values[field.name] = .bool(try fields.flag(field.name) ?? standard)
        }
    }
}
