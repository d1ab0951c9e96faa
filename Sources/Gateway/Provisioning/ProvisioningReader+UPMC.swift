import Model
import UPMC

/// Bindings of UPMC.
extension ProvisioningReader {
    /// `applicationId`, and `bundleId` where apps of 3.0 name only that.
    func upmcKeys(_ fields: inout StrictFields) throws(ProvisioningProblem) -> [(kind: String, value: String)] {
        var keys = [(kind: "application", value: try fields.text("applicationId"))]
        if let bundle = try fields.optionalText("bundleId") { keys.append(("bundle", bundle)) }
        return keys
    }

    /// The secrets of keys for apps and for senders. `version` goes among the settings.
    func upmcSecrets(_ fields: inout StrictFields, _ settings: inout JSONObject, _ path: String)
        throws(ProvisioningProblem) -> [String: String]
    {
        if let version = try fields.optionalText("version") { settings["version"] = .string(version) }
        var secrets: [String: String] = [:]
        secrets[UPMCSettings.secretName] = try optionalSecret(&fields, "authKeySecret", path)
        secrets[UPMCSettings.sendSecretName] = try optionalSecret(&fields, "sendKey", path)
        for (name, secret) in secrets where secret.utf8.count < 16 {
            throw ProvisioningProblem(path: path, problem: "the secret \(name) must have at least 16 characters")
        }
        let hasSecret = secrets[UPMCSettings.secretName] != nil
        if let problem = UPMCSettings.problems(in: settings, hasSecret: hasSecret).first {
            throw ProvisioningProblem(path: "\(path).settings", problem: problem)
        }
        return secrets
    }

    /// A binding with a host of its own, the only one of its dialect there, also answers calls that name no app (3.0).
    static func nameOnlyBindings(_ tenants: inout [ProvisioningFile.Tenant]) {
        let all = tenants.flatMap(\.apps).flatMap(\.bindings).filter { $0.vendor == .upmc }
        let counts = Dictionary(grouping: all.compactMap(\.host)) { $0 }.mapValues(\.count)
        for tenant in tenants.indices {
            for app in tenants[tenant].apps.indices {
                for index in tenants[tenant].apps[app].bindings.indices {
                    let binding = tenants[tenant].apps[app].bindings[index]
                    guard binding.vendor == .upmc, let host = binding.host, counts[host] == 1 else { continue }
                    tenants[tenant].apps[app].bindings[index].keys.append(("only", "*"))
                }
            }
        }
    }
}
