import Adapters
import Foundation
import Model
import TestKit
import Testing

@testable import Gateway
@testable import Imports
@testable import Provisioning
@testable import push_gateway

/// The declarations of vendors are used where the product needs them: provisioning, imports, captures, the list of
/// vendors.
struct VendorDeclarationTests {
    @Test func everyVendorOfTheProductIsListedWithItsSettings() throws {
        let vendors = VendorCatalog.product
        #expect(
            vendors.names { vendors.provisioned[$0] != nil }
                == ["rationalowl", "ipns", "upmc", "notificationhubs", "braze"]
        )
        let form = VendorForm(try #require(vendors.provisioned[.upmc]))
        #expect(form.text.contains("authKeySecretEnv, …File") && form.text.contains("security.using"))
        #expect(form.json["importColumns"]?["CUID"] == "user")
        #expect(
            form.json["settings"]?.array?.first { $0["name"] == "push.ttlHours" }?["default"] == "72"
        )
    }

    @Test func aVendorsOwnColumnsReplaceTheCommonOnes() throws {
        let own = DeviceLine.ownColumns(of: .rationalOwl)
        let row = Array(#"{"dRId":"k1","pn":"010-1234","tk":"abcd"}"#.utf8)
        let fields = try DeviceLine.renamed(try DeviceLine.fields(json: row), own)
        let device = try DeviceLine.registration(fields, TestIdentifiers())
        #expect(device.key == "k1" && device.phone == "0101234" && device.token?.text == "abcd")
        #expect(throws: DeviceLine.Fault.self) {
            try DeviceLine.renamed(["dRId": "k1", "key": "k2"], own)
        }
        // A column name of another vendor is unknown.
        #expect(try DeviceLine.renamed(["dRId": "k1"], DeviceLine.ownColumns(of: .ipns)) == ["dRId": "k1"])
    }

    // Declared names are masked like the common names of secrets.
    @Test(arguments: [
        ("dRId", KeyClass.secret), ("AN", .secret), ("psid", .secret), ("push_token", .secret), ("pn", .phone),
        ("USER_CN", .personal), ("password", .secret), ("colour", .plain),
    ])
    func declaredNamesAreMasked(_ name: String, _ kind: KeyClass) {
        #expect(CaptureMask(keepsTexts: false).values.kind(of: name) == kind)
        #expect(KeyClass("tk", [:]) == .plain)
    }

    @Test func anUnknownVendorIsNamedWithTheKnownOnes() {
        let reader = ProvisioningReader(directory: ".", environment: [:], allowsInlineSecrets: false)
        let problem = #expect(throws: ProvisioningProblem.self) {
            try reader.read("tenants: [{ id: a, apps: [{ id: b, bindings: { pigeon: { app: c } } }] }]")
        }
        #expect(problem?.path == "tenants[0].apps[0].bindings.pigeon")
        #expect(problem?.problem.hasSuffix("use one of rationalowl, ipns, upmc, notificationhubs, braze") == true)
    }
}
