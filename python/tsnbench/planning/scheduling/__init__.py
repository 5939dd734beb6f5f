"""Scheduled streams: releases and gates that keep their frames apart, or why there are none."""
