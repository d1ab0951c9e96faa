import Adapters
import HTTPTypes
import Model
import TestKit
import TestVendors
import Testing

/// Rules over all vendors together.
struct VendorListTests {
    static let lists = [Vendors.all, TestVendors.catalog.adapters]

    @Test(arguments: lists)
    func noTwoVendorsShareAPath(_ adapters: [any VendorAdapter]) {
        #expect(Set(adapters.map(\.vendor)).count == adapters.count)
        let paths = adapters.flatMap(\.routes).map { "\($0.method?.rawValue ?? "*") \($0.path)" }
        #expect(Set(paths).count == paths.count)
    }

    @Test(arguments: lists.flatMap { $0 })
    func aVendorCanBeProvisionedAndDescribesItsSettings(_ adapter: any VendorAdapter) throws {
        let form = try #require(adapter as? any ProvisionedVendor).bindingForm
        #expect(!form.product.isEmpty && !form.fields.isEmpty)
        for field in form.fields {
            #expect(field.summary.hasSuffix("."), "\(adapter.vendor): \(field.name)")
        }
        for setting in form.settings.all {
            #expect(setting.summary.hasSuffix("."), "\(adapter.vendor): \(setting.name)")
        }
        #expect(Set(form.settings.all.map(\.name)).count == form.settings.all.count)
    }

    // The default value in a listing must be valid in a file.
    @Test(arguments: lists.flatMap { $0 })
    func theDefaultOfASettingIsAccepted(_ adapter: any VendorAdapter) throws {
        for setting in try #require(adapter as? any ProvisionedVendor).bindingForm.settings.all {
            guard let standard = setting.standard else { continue }
            let list: JSON = .array(standard.dropFirst().dropLast().split(separator: ",").map { .string(String($0)) })
            let value = standard.hasPrefix("[") ? list : (try? JSONParser.parse(standard)) ?? .string(standard)
            #expect(setting.problem(in: value) == nil, "\(adapter.vendor): \(setting.name)")
        }
    }

    @Test func abilitiesAreFoundOnce() {
        let catalog = VendorCatalog(Vendors.all)
        #expect(catalog.inboxes == [.ipns])
        #expect(Set(catalog.campaigns.keys) == [.braze] && Set(catalog.exporters.keys) == ["currents"])
        #expect(Set(catalog.callbacks.keys) == [.rationalOwl])
        #expect(Set(catalog.multiStep.keys) == [.braze, .notificationHubs])
        #expect(catalog.provisioned.count == Vendors.all.count && catalog.importing.count == Vendors.all.count)
        #expect(catalog.names { catalog.callbacks[$0] != nil } == ["rationalowl"])
    }
}
