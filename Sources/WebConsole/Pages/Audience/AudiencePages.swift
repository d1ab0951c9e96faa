package import PageParts

/// The pages of the sidebar's section Audience, in its order. A page that is reached by links follows the one that leads to it.
package enum AudiencePages {
    package static let all: [any ConsolePage] = [
        FindPage(),
        DevicePage(),
        DiagnosisPage(),
        UsersPage(),
        UserPage(),
        GroupsPage(),
        GroupPage(),
        TestDevicesPage(),
        VersionsPage(),
    ]
}
