"""The plugins that Fairway brings along, each made with `fairway.sdk` like anybody's."""
