import Adapters
import ArgumentParser
import CommandSupport
import Model

/// Lists the vendors, or the possible content of a vendor's binding.
struct VendorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vendors",
        abstract: "List the vendors, or the keys and settings of one vendor's bindings.",
        discussion:
            "Without a name: one line per vendor. With a name: the possible content of its binding in a provisioning file."
    )

    @Argument(help: "A vendor.") var vendor: String?
    @Flag(help: "Print the result as JSON.") var json = false

    func run() throws {
        let vendors = VendorCatalog.product
        guard let vendor else {
            let all = vendors.adapters.compactMap { vendors.provisioned[$0.vendor] }
            if json {
                Console.print(.array(all.map { VendorForm($0).summary }))
            } else {
                Console.print(
                    Console.table(["vendor", "product"], all.map { [$0.vendor.rawValue, $0.bindingForm.product] })
                )
            }
            return
        }
        guard let known = vendors.provisioned[Vendor(vendor)] else {
            let names = vendors.names { vendors.provisioned[$0] != nil }.joined(separator: ", ")
            throw CommandFailure("vendors: unknown vendor '\(vendor)'; use one of \(names)", isUsage: true)
        }
        let form = VendorForm(known)
        if json { Console.print(form.json) } else { Console.print(form.text) }
    }
}

/// The possible content of a vendor's binding, as text and as JSON.
struct VendorForm {
    private let vendor: any ProvisionedVendor
    private let form: BindingForm
    /// The vendor's own settings, and those that all vendors with senders share.
    private let settings: [VendorSetting]
    private let columns: [(own: String, column: String)]

    init(_ vendor: any ProvisionedVendor) {
        self.vendor = vendor
        form = vendor.bindingForm
        settings = vendor.allSettings.all
        columns = ((vendor as? any DeviceImporting)?.importColumns ?? [:])
            .map { (own: $0.key, column: $0.value.rawValue) }
            .sorted { $0.own < $1.own }
    }

    var summary: JSON { ["vendor": .string(vendor.vendor.rawValue), "product": .string(form.product)] }

    var text: String {
        var parts = ["\(form.product): bindings: { \(vendor.vendor): { … } }"]
        parts.append(Console.table(["key", "meaning"], form.fields.map { [Self.name($0), $0.summary] }))
        if !settings.isEmpty {
            parts.append(
                Console.table(
                    ["setting", "default", "meaning"],
                    settings.map { [$0.name, $0.standard ?? "-", $0.summary] }
                )
            )
        }
        if !columns.isEmpty {
            parts.append(Console.table(["import column", "corresponds to"], columns.map { [$0.own, $0.column] }))
        }
        return parts.joined(separator: "\n\n")
    }

    var json: JSON {
        [
            "vendor": .string(vendor.vendor.rawValue), "product": .string(form.product),
            "keys": .array(
                form.fields.map {
                    ["name": .string($0.name), "summary": .string($0.summary), "secret": .bool($0.isSecret)]
                }
            ),
            "settings": .array(
                settings.map {
                    [
                        "name": .string($0.name), "default": $0.standard.map { .string($0) } ?? .null,
                        "summary": .string($0.summary),
                    ]
                }
            ),
            "importColumns": .object(JSONObject(columns.map { ($0.own, .string($0.column)) })),
        ]
    }

    /// The name of a field. A secret is read from the environment or a file.
    private static func name(_ field: BindingForm.Field) -> String {
        field.isSecret ? "\(field.name)Env, …File" : field.name
    }
}
