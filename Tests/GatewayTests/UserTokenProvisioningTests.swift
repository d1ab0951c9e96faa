import Foundation
import Model
import Testing

@testable import Provisioning

/// `userTokens` of an app in a provisioning file.
struct UserTokenProvisioningTests {
    private func read(_ app: String, directory: String = ".") throws -> ProvisioningFile {
        let reader = ProvisioningReader(
            directory: directory,
            environment: ["KEY": "5c1f0ae69b7d3428f1d0c96e8a7b2354"],
            allowsInlineSecrets: false
        )
        return try reader.read("tenants: [ { id: acme, apps: [ { id: shop, \(app) } ] } ]")
    }

    @Test func keysOfUserTokensAreReadFromFiles() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let jwks = """
            {"keys": [{"kty": "oct", "k": "AAAA"}, {"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}
            """
        try Data(jwks.utf8).write(to: directory.appending(path: "keys.json"))
        try Data("nonsense".utf8).write(to: directory.appending(path: "wrong.pem"))
        func keys(_ keys: String, rest: String = "issuer: i, audience: a") throws -> UserTokenRules? {
            let file = try read("userTokens: { keys: [\(keys)], \(rest) }", directory: directory.path)
            return file.tenants[0].apps[0].userTokens
        }
        let rules = try #require(try keys("{ jwksFile: keys.json }"))
        #expect(rules.issuer == "i" && rules.audience == "a" && rules.keys.count == 1)
        #expect(rules.keys.allSatisfy { $0.hasPrefix("-----BEGIN PUBLIC KEY-----") })
        let nine = Array(repeating: "{ jwksFile: keys.json }", count: 9).joined(separator: ", ")
        for wrong in [
            "", "{}", "{ publicKeyFile: wrong.pem }", "{ jwksFile: wrong.pem }", "{ jwksFile: none.json }",
            "{ jwksFile: keys.json, publicKeyFile: wrong.pem }", nine,
        ] {
            #expect(throws: ProvisioningProblem.self, "\(wrong)") { try keys(wrong) }
        }
        for rest in ["issuer: i", "audience: a", "issuer: i, audience: a, leeway: 5"] {
            #expect(throws: ProvisioningProblem.self) { try keys("{ jwksFile: keys.json }", rest: rest) }
        }
        #expect(try read("bindings: {}").tenants[0].apps[0].userTokens == nil)
    }
}
