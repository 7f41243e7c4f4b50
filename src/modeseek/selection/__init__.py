"""The method behind `ModeSeek`, and automatic bandwidths."""
