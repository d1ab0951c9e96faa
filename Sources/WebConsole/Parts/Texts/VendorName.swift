import Model

/// The names of vendors, as people write them. The API's name of a vendor is the same in small letters and without spaces; a vendor without a line here
/// is shown by that name.
package enum VendorName {
    private static let names = ["RationalOwl", "iPNS", "UPMC", "Braze", "Notification Hubs"]

    /// The API's names, in the order of filters and choices.
    package static let all = names.map(id)

    /// The API's name of a vendor.
    package static func id(_ name: String) -> String { name.lowercased().filter { $0 != " " } }

    package static func of(_ vendor: String?, _ language: Language) -> String {
        guard let vendor else { return ConsoleFormat.unknown }
        if vendor == Vendor.native.rawValue { return Text(ko: "자체 API", en: "Native API")(language) }
        return names.first { id($0) == vendor } ?? vendor.oneLine(40)
    }

    /// The choices of a filter, with one that removes it.
    package static func filter(_ language: Language) -> [Filter.Option] {
        [Filter.Option(value: "", label: CommonText.all(language))] + options(language)
    }

    package static func options(_ language: Language) -> [Filter.Option] {
        all.map { Filter.Option(value: $0, label: of($0, language)) }
    }
}
