import Adapters
import Model
import TestKit
import Testing

/// docs/security.md against the settings that exist: each named setting exists, and each setting that opens something is named.
struct SecurityDocumentTests {
    private let document: SecurityDocument
    /// The vendors of the product with their names in the document.
    private static let titles: [(vendor: Vendor, title: String)] = [
        (.rationalOwl, "RationalOwl"), (.upmc, "UPMC"), (.ipns, "iPNS"), (.notificationHubs, "Notification Hubs"),
        (.braze, "Braze"),
    ]
    /// Settings of apps and bindings outside of `settings`, which the document names.
    private static let others: Set<String> = ["minAssurance", "mixedAssurance", "userTokens"]

    init() throws { document = try SecurityDocument() }

    private func form(_ vendor: Vendor) throws -> any ProvisionedVendor {
        try #require(VendorCatalog.product.provisioned[vendor])
    }

    /// The names of settings in a cell: `historyScope: all` names `historyScope`.
    private func names(in cell: String) -> [String] {
        SecurityDocument.code(in: cell).map { String($0.prefix { $0 != ":" }) }
    }

    /// Whether the vendor's bindings, or their apps, have something of this name.
    private func exists(_ name: String, _ vendor: any ProvisionedVendor) -> Bool {
        Self.others.contains(name) || vendor.allSettings.all.contains { $0.name == name }
            || vendor.bindingForm.fields.contains { field in
                field.name.split(separator: ".").last?.hasPrefix(name) ?? false
            }
    }

    @Test func everyVendorIsListed() {
        #expect(Set(Self.titles.map(\.vendor)) == Set(VendorCatalog.product.provisioned.keys))
        for (vendor, title) in Self.titles {
            #expect(document.posture(of: vendor).count >= 3, "\(vendor)")
            #expect(document.section(title).contains("| step |"), "\(vendor)")
        }
    }

    // A vendor that accepts calls of senders by default needs none of the settings of senders.
    @Test(arguments: titles.map(\.vendor))
    func theSettingsOfThePostureExist(_ vendor: Vendor) throws {
        let cells = document.posture(of: vendor)
        let form = try form(vendor)
        let named = cells.count > 3 ? names(in: cells[3]) : []
        for name in named { #expect(exists(name, form), "\(vendor): \(name)") }
        if form.senders != nil {
            #expect(named.contains(SenderSettings.networksKey) && named.contains(SenderSettings.openKey), "\(vendor)")
        }
    }

    @Test(arguments: titles)
    func everySettingThatOpensSomethingIsInTheSectionOfItsVendor(_ vendor: Vendor, _ title: String) throws {
        let form = try form(vendor)
        let named = Set(names(in: document.section(title)))
        let risky = form.allSettings.all.filter { $0.risk != nil }.map(\.name)
        #expect(!risky.isEmpty)
        for name in risky { #expect(named.contains(name), "\(vendor): \(name) opens something and is not named") }
        let steps = document.section(title).split(separator: "\n").filter { $0.hasPrefix("|") }.dropFirst(2)
        for step in steps {
            for name in names(in: String(step.split(separator: "|")[0])) {
                #expect(exists(name, form), "\(vendor): the vendor has no setting \(name)")
            }
        }
    }

    // The settings whose defaults refuse or shorten calls are those of the second table, and no others.
    @Test func theSettingsOfRefusedCallsAreTheOnesOfTheTable() throws {
        let rows = document.table("call", "with the defaults", "setting")
        var expected: Set<String> = []
        for (vendor, title) in Self.titles {
            for setting in try form(vendor).allSettings.all where setting.refusedCalls != nil {
                expected.insert("\(title) \(setting.name)")
            }
        }
        let listed = rows.map { row in
            let title = Self.titles.first { row[0].hasPrefix($0.title) }?.title ?? row[0]
            return "\(title) \(names(in: row[2]).first ?? "")"
        }
        #expect(Set(listed) == expected)
    }
}
